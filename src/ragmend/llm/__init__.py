"""Language models behind one Protocol: servers, in process, scripted; and what is read of them."""
