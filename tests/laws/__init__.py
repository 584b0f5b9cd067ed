"""Laws: one law a file, each over the whole catalogue. An op is tested by being declared."""
