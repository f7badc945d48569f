"""Every refusal of the compiler, each with a permanent id.

Decides: what a user reads when something cannot be done.  One base class, one subclass per cause; the
subclass holds the id and the way out, the instance says where and what was found.  `docs/errors.md` is
generated from the classes here, so a cause is described once.
"""

from codegen.errors.base import *
from codegen.errors.building import *
from codegen.errors.caffe import *
from codegen.errors.calibration import *
from codegen.errors.cluster import *
from codegen.errors.crc_log import *
from codegen.errors.data import *
from codegen.errors.families import *
from codegen.errors.model import *
from codegen.errors.operators import *
from codegen.errors.plugin import *
from codegen.errors.project import *
from codegen.errors.quantize import *
from codegen.errors.target import *
from codegen.errors.tools import *
from codegen.errors.train import *
from codegen.errors.usage import *
