"""What tests are built from: notebooks, a small class, the exercises of the course."""
