# docker build -t citebot .    then: docker compose up -d    (compose.yaml, docs/operations.md)
FROM python:3.12-slim

RUN useradd --create-home --uid 10001 citebot \
 && mkdir -p /srv/citebot /var/lib/citebot \
 && chown citebot:citebot /srv/citebot /var/lib/citebot \
 && chmod 700 /var/lib/citebot

WORKDIR /app
COPY pyproject.toml constraints.txt README.md LICENSE ./
COPY bots bots
COPY connectors connectors
COPY prompts prompts
COPY ragcore ragcore
RUN python -m pip install --no-cache-dir -c constraints.txt '.[postgres]'

# By number: whoever runs the image can tell that it is not root.
USER 10001
WORKDIR /srv/citebot
ENV CITEBOT_CONFIG=/srv/citebot/citebot.toml \
    CITEBOT_DATA_DIR=/var/lib/citebot \
    CITEBOT_MONITORING__PORT=8090
VOLUME /var/lib/citebot
HEALTHCHECK --interval=30s --timeout=5s --start-period=60s \
  CMD ["python", "-c", "import urllib.request; urllib.request.urlopen('http://127.0.0.1:8090/healthz', timeout=4)"]
STOPSIGNAL SIGTERM
CMD ["citebot", "run"]
