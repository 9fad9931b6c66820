"""What spark-submit starts: spark-submit --archives mementomap.tar.gz#mementomap submit.py generate …"""

import sys

from mementomap_spark.command_line import main

if __name__ == "__main__":
    sys.exit(main())
