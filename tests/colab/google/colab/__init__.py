"""Stands in for the package that every kernel of Colab has imported when the first cell runs."""

from google.colab import output as output
