"""`python -m lazytensor`: the command line, also if the script `lazytensor` is not installed."""

from lazytensor.cli import main

if __name__ == "__main__":
    main()
