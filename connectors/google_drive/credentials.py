"""What a source shows Google of itself: a service account's key, or a refresh token. Blocking; run it in a thread."""

import json
from pathlib import Path
from typing import Any

from connectors.google_drive.options import GoogleDriveOptions
from ragcore.errors import SourceAuthError

READ = "https://www.googleapis.com/auth/drive.readonly"
MEMBERS = "https://www.googleapis.com/auth/admin.directory.group.member.readonly"


def scopes_of(options: GoogleDriveOptions) -> tuple[str, ...]:
    """Return what the credential has to be allowed."""
    return (READ, MEMBERS) if options.expand_groups else (READ,)


def credentials_of(options: GoogleDriveOptions, folder: Path) -> Any:
    """Return the credentials of google-auth.

    Args:
        options: The settings.
        folder: What the path of a key's file is relative to.

    Raises:
        SourceAuthError: There is no such file, or it is no service account's key.
    """
    import google.auth.exceptions
    import google.oauth2.credentials
    import google.oauth2.service_account

    by_refresh: Any = google.oauth2.credentials.Credentials  # not typed
    by_key: Any = google.oauth2.service_account.Credentials
    if not options.key:
        assert options.client_secret is not None
        assert options.refresh_token is not None
        return by_refresh(
            token=None,
            refresh_token=options.refresh_token.get_secret_value().strip(),
            token_uri=options.token_url,
            client_id=options.client_id,
            client_secret=options.client_secret.get_secret_value().strip(),
        )
    try:
        key = json.loads(_text(options.key, folder))
        if not isinstance(key, dict):
            raise ValueError
        found = by_key.from_service_account_info(key, scopes=scopes_of(options))
    except (ValueError, KeyError, TypeError, google.auth.exceptions.GoogleAuthError):
        mend = "download a JSON key of it in the Google Cloud console, and name its file"
        raise SourceAuthError("`service_account` is no key of a service account", mend=mend) from None
    return found.with_subject(options.subject) if options.subject else found


def account_of(options: GoogleDriveOptions, credentials: Any) -> tuple[str, ...]:
    """Return what stands for the account, whichever file its key is read from: another key of it is no other one.

    Of a refresh token nobody tells whose it is, so another token counts as another account.
    """
    if not options.key:
        assert options.refresh_token is not None
        return (options.client_id, options.refresh_token.get_secret_value().strip())
    return (str(credentials.service_account_email), options.subject)


def _text(key: str, folder: Path) -> str:
    if key.startswith("{"):
        return key
    try:
        return (folder / Path(key).expanduser()).read_text(encoding="utf-8")
    except (OSError, RuntimeError) as error:
        why = (error.strerror if isinstance(error, OSError) else "") or "it has no such folder"
        mend = "check `service_account`: the path of a JSON file, or its content"
        raise SourceAuthError(f"the service account's key can't be read: {why}", mend=mend) from None
