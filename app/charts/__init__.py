"""Pure functions from recorded tensors to what is shown or saved. No streamlit here."""
