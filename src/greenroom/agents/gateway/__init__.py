"""A metered model endpoint for each episode: agents bring their own client, the run its model."""

from __future__ import annotations

from greenroom.agents.gateway.server import TURN_CALLS, EpisodeEndpoint, Gateway, open_gateway

__all__ = ["TURN_CALLS", "EpisodeEndpoint", "Gateway", "open_gateway"]
