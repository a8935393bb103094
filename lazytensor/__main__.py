"""`python -m lazytensor`: the command line, where no script called `lazytensor` is installed."""

from lazytensor.cli import main

if __name__ == "__main__":
    main()
