/* Stands in for MicroPython's header of this name; see obj.h beside it. */
#include "py/obj.h"
