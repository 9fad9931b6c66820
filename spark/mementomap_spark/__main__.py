"""python -m mementomap_spark"""

import sys

from .command_line import main

sys.exit(main())
