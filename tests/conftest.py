"""What holds for every test: no example of a property is held against a clock, for others may share the machine."""

from __future__ import annotations

from hypothesis import HealthCheck, settings

# On top of what hypothesis chooses where CI is set.
settings.register_profile("untimed", settings.default, deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("untimed")
