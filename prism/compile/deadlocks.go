package compile

// DeadlocksAreErrors reports whether a path must not reach a deadlock: Options.NoFixDeadlocks.
func (m *Model) DeadlocksAreErrors() bool { return m.options.NoFixDeadlocks }
