"""Work on several processes, deadlines, state on disk, standard streams: nothing here knows what a mapping is."""
