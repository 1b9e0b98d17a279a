"""Types of numpy arrays, for annotations."""

import numpy as np
import numpy.typing as npt

Int64 = npt.NDArray[np.int64]
Int32 = npt.NDArray[np.int32]
Ints = npt.NDArray[np.integer]  # whole numbers of any size: those kept per event are as small as they can be
Floats = npt.NDArray[np.float64]
Bools = npt.NDArray[np.bool_]
Objects = npt.NDArray[np.object_]
