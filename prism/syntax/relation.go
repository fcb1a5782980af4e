package syntax

// Negated returns the order relation that holds if and only if op does not hold: >= for <. It returns other operators unchanged.
func (op Op) Negated() Op {
	switch op {
	case OpLt:
		return OpGe
	case OpLe:
		return OpGt
	case OpGt:
		return OpLe
	case OpGe:
		return OpLt
	}
	return op
}

// Mirrored returns the order relation with exchanged sides: > for <. It returns other operators unchanged.
func (op Op) Mirrored() Op {
	switch op {
	case OpLt:
		return OpGt
	case OpLe:
		return OpGe
	case OpGt:
		return OpLt
	case OpGe:
		return OpLe
	}
	return op
}
