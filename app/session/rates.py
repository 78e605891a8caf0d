"""How often a visitor, and all visitors together, may ask for what is dear; the figures stand in the profile.

What is begun by a click (a training, say) is asked for with `allowed`, and put off where it would be too often. What a run of a
page computes is known only once it was computed: `computing` marks it, the next run pays for it, and waits where nothing is left.
"""

import math
import threading
import time

import streamlit as st
from streamlit.runtime.scriptrunner import get_script_run_ctx

from app.bucket import Bucket
from app.server_profile import Rate, profile
from app.session.remark import Remark

_BUCKETS, _COMPUTED, _PUT_OFF = "atlas_rates", "atlas_computed", "atlas_put_off"


class Rates:
    """What all visitors of this server may still ask for, and each of them; safe to be used by many threads."""

    def __init__(self, rates: dict[str, Rate]) -> None:
        self.rates = rates
        self.lock = threading.RLock()
        self.together = {kind: Bucket(rate.server) for kind, rate in rates.items()}

    def of_one(self) -> dict[str, Bucket]:
        """The buckets of a session."""
        return {kind: Bucket(rate.session) for kind, rate in self.rates.items()}

    def refusal(self, kind: str, own: dict[str, Bucket], now: float) -> Remark | None:
        """Why there is none to take, and for how many seconds; None if there is."""
        with self.lock:
            if wait := own[kind].wait(now):
                return Remark(f"rates.alone_{kind}", {"limit": self.rates[kind].session, "seconds": math.ceil(wait)})
            if wait := self.together[kind].wait(now):
                return Remark(f"rates.together_{kind}", {"limit": self.rates[kind].server, "seconds": math.ceil(wait)})
        return None

    def take(self, kind: str, own: dict[str, Bucket]) -> None:
        with self.lock:
            own[kind].take()
            self.together[kind].take()


_rates = Rates(dict(profile().rate))


def allowed(kind: str) -> bool:
    """Whether this may be begun now; where not, `put_off` says why."""
    if get_script_run_ctx(suppress_warning=True) is None:
        return True
    own = _own()
    with _rates.lock:  # nobody takes the last one between the question and the answer
        refusal = _rates.refusal(kind, own, time.monotonic())
        if refusal is None:
            _rates.take(kind, own)
    if refusal:
        st.session_state.setdefault(_PUT_OFF, {})[kind] = refusal
    return refusal is None


def put_off(*kinds: str) -> Remark | None:
    """What the visitor just asked for too often, if it was one of these; said once."""
    kept: dict[str, Remark] = st.session_state.get(_PUT_OFF, {})
    return next((kept.pop(kind) for kind in kinds if kind in kept), None)


def computing(kind: str) -> None:
    """This run computes something dear. (While the server warms up nobody pays.)"""
    if get_script_run_ctx(suppress_warning=True) is not None:
        st.session_state.setdefault(_COMPUTED, set()).add(kind)


def waiting() -> Remark | None:
    """Pay for what the last run computed, once for each kind; why this run has to wait, None if it has not."""
    own = _own()
    for kind in st.session_state.pop(_COMPUTED, ()):
        _rates.take(kind, own)
    now = time.monotonic()
    return _rates.refusal("sentence", own, now) or _rates.refusal("what_if", own, now)


def in_fragment() -> bool:
    """Whether this run is one of fragments alone."""
    context = get_script_run_ctx(suppress_warning=True)
    return bool(context and context.fragment_ids_this_run)


def _own() -> dict[str, Bucket]:
    if _BUCKETS not in st.session_state:
        st.session_state[_BUCKETS] = _rates.of_one()
    found: dict[str, Bucket] = st.session_state[_BUCKETS]
    return found
