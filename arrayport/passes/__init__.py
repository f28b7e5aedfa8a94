"""Passes: functions from Program to Program that keep its meaning."""
