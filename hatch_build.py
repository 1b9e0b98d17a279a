"""What a package index shows of the repository: its addresses, and the README with links that lead there.

GitHub's workflows say in ``GITHUB_REPOSITORY`` where they run. Elsewhere
nobody knows, and the package has no addresses.
"""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any

from hatchling.metadata.plugin.interface import MetadataHookInterface

RELATIVE = re.compile(r"(?P<before>(?P<picture>!?)\[[^\]]*\]\()(?!https?:|#)(?P<path>[^)]+)\)")


class RepositoryHook(MetadataHookInterface):
    """Fill in the dynamic fields ``urls`` and ``readme``."""

    def update(self, metadata: dict[str, Any]) -> None:
        """Set both, of the tag that belongs to the version."""
        text = (Path(self.root) / "README.md").read_text(encoding="utf-8")
        repository = os.environ.get("GITHUB_REPOSITORY")
        if repository:
            address = f"{os.environ.get('GITHUB_SERVER_URL', 'https://github.com')}/{repository}"
            tag = f"v{metadata['version']}"
            metadata["urls"] = {
                "Documentation": site_of(repository),
                "Source": address,
                "Changelog": f"{address}/blob/{tag}/CHANGELOG.md",
                "Issues": f"{address}/issues",
            }
            text = with_addresses(text, address, tag)
        metadata["readme"] = {"content-type": "text/markdown", "text": text}


def site_of(repository: str) -> str:
    """Return where GitHub Pages shows the site of a repository."""
    owner, _, name = repository.partition("/")
    return f"https://{owner.lower()}.github.io/{name}/"


def with_addresses(text: str, address: str, tag: str) -> str:
    """Return Markdown whose relative links and pictures lead into the repository."""
    return RELATIVE.sub(
        lambda link: f"{link['before']}{address}/{'raw' if link['picture'] else 'blob'}/{tag}/{link['path']})", text
    )
