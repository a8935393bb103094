# Compiled as it is: it is asked at each cut.
