"""Running the site without containers: llama-server found or built, and the processes around it."""
