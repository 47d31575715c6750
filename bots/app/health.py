"""``/healthz`` and ``/metrics`` on a local port, for whoever watches the process."""

import asyncio
import contextlib
import logging
from collections.abc import AsyncGenerator, Iterator, Sequence
from typing import Any

from aiohttp import web

from bots.app.connecting import Connection, LinkState
from bots.listening import listen
from bots.settings import MonitoringSettings
from bots.turn.meter import BOUNDS, Histogram, Meter

log = logging.getLogger(__name__)

_COUNTS = {
    "outcomes": ("citebot_turns", "turns that ended, by outcome", "outcome"),
    "claims": ("citebot_claims", "messages claimed (new), delivered again (again), taken over (resumed)", "kind"),
    "sends": ("citebot_sends", "calls that showed or sent something, by what they were for", "call"),
    "refused": ("citebot_refusals", "calls of turns that the platform refused, by error", "error"),
    "tokens": ("citebot_tokens", "tokens of the language model", "kind"),
}
_TIMES = {
    "first_sign": ("citebot_first_sign_seconds", "from the event to the first visible sign"),
    "first_words": ("citebot_first_words_seconds", "from the event to the first words of the answer"),
    "end": ("citebot_turn_seconds", "from the event to the whole answer"),
}


def healthy(connections: Sequence[Connection]) -> tuple[bool, dict[str, object]]:
    """Return whether anybody can be answered, and how each platform stands."""
    up = sum(connection.state is LinkState.CONNECTED for connection in connections)
    status = "ok" if up == len(connections) else ("degraded" if up else "down")
    platforms = {
        connection.name: {"state": connection.state.value, "fault": connection.fault} for connection in connections
    }
    return status != "down", {"status": status, "platforms": platforms}


class Families:
    """What Prometheus reads, made from the meters when it asks."""

    def __init__(self, connections: Sequence[Connection]) -> None:
        """Read the meters of these connections."""
        self._connections = connections

    def collect(self) -> Iterator[Any]:
        """Yield each family with a sample a platform."""
        from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, HistogramMetricFamily

        meters = self._meters()
        for field, (name, told, label) in _COUNTS.items():
            counter = CounterMetricFamily(name, told, labels=["platform", label])
            for platform, meter in meters.items():
                for kind, count in getattr(meter, field).items():
                    counter.add_metric([platform, str(kind)], count)
            yield counter
        for field, (name, told) in _TIMES.items():
            histogram = HistogramMetricFamily(name, told, labels=["platform"])
            for platform, meter in meters.items():
                times: Histogram = getattr(meter, field)
                buckets = [(str(bound), float(count)) for bound, count in zip(BOUNDS, times.below, strict=True)]
                histogram.add_metric([platform], [*buckets, ("+Inf", float(times.count))], times.total)
            yield histogram
        limited = CounterMetricFamily(
            "citebot_rate_limited", "calls refused with 429, whoever made them", labels=["platform"]
        )
        connected = GaugeMetricFamily("citebot_connected", "1 while the platform is connected", labels=["platform"])
        running = GaugeMetricFamily("citebot_turns_running", "turns under way or waiting", labels=["platform"])
        for connection in self._connections:
            limited.add_metric([connection.name], connection.platform.limited if connection.platform else 0)
            connected.add_metric([connection.name], float(connection.state is LinkState.CONNECTED))
            running.add_metric([connection.name], connection.turns.running() if connection.turns else 0)
        yield limited
        yield connected
        yield running

    def _meters(self) -> dict[str, Meter]:
        return {one.name: one.turns.meter if one.turns else Meter() for one in self._connections}


@contextlib.asynccontextmanager
async def serve_health(settings: MonitoringSettings, connections: Sequence[Connection]) -> AsyncGenerator[None]:
    """Answer on the port of the settings while the context lasts; without one do nothing.

    Raises:
        ConfigError: the port can't be listened at.
    """
    if settings.port is None:
        yield
        return
    runner = web.AppRunner(_app(connections), access_log=None, shutdown_timeout=1.0)
    await runner.setup()
    try:
        await listen(runner, settings.host, settings.port, key="[monitoring] port")
        log.info("/healthz and /metrics are at http://%s:%d", settings.host, settings.port)
        yield
    finally:
        await runner.cleanup()


def _app(connections: Sequence[Connection]) -> web.Application:
    from prometheus_client import CollectorRegistry, generate_latest
    from prometheus_client.exposition import CONTENT_TYPE_LATEST
    from prometheus_client.process_collector import ProcessCollector

    registry = CollectorRegistry()
    registry.register(Families(connections))
    ProcessCollector(registry=registry)

    async def health(_: web.Request) -> web.Response:
        well, told = healthy(connections)
        return web.json_response(told, status=200 if well else 503)

    async def metrics(_: web.Request) -> web.Response:
        page = await asyncio.to_thread(generate_latest, registry)
        return web.Response(body=page, headers={"Content-Type": CONTENT_TYPE_LATEST})

    app = web.Application()
    app.router.add_get("/healthz", health)
    app.router.add_get("/metrics", metrics)
    return app
