from ._errors import BadProfileError as BadProfileError
from ._errors import BudgetError as BudgetError
from ._errors import CaptureActiveError as CaptureActiveError
from ._errors import CaptureError as CaptureError
from ._errors import MissingDependencyError as MissingDependencyError
from ._errors import ProfileNotFoundError as ProfileNotFoundError
from ._errors import TfprofError as TfprofError
from .api.benchmark_input import benchmark_input as benchmark_input
from .api.benchmark_step import benchmark_step as benchmark_step
from .api.capture_dialog import CaptureDialog as CaptureDialog
from .api.capture_remote import capture_remote as capture_remote
from .api.check import check as check
from .api.compare import compare as compare
from .api.experiment import experiment as experiment
from .api.find_runs import find_runs as find_runs
from .api.load import load as load
from .api.profile import profile as profile
from .api.profile import start as start
from .api.profile import stop as stop
from .api.profile_call import profile_call as profile_call
from .api.profile_callback import ProfileCallback as ProfileCallback
from .api.profile_session import profile_session as profile_session
from .api.profiler import Profiler as Profiler
from .api.rules import rules as rules
from .api.session import last as last
from .api.watch import watch as watch
from .capture.marks import step as step
from .capture.server import start_server as start_server
from .capture.step_marker import StepMarker as StepMarker
from .profiles import Profile as Profile
from .runs import Run as Run

__version__: str

def load_ipython_extension(shell: object) -> None: ...
def unload_ipython_extension(shell: object) -> None: ...
