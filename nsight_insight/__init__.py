"""Ranked, evidence-backed performance advice from NVIDIA Nsight profiles."""
