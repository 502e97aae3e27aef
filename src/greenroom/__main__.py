"""`python -m greenroom` is the command."""

from greenroom.cli import main

if __name__ == "__main__":
    main()
