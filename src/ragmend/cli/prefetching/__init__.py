"""What a machine without internet needs: models in the hub's cache, and data that are asked for."""
