def end_of(v): return v if isinstance(v,str) else next(iter(v))
