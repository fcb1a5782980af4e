package syntax

// Walk traverses the tree below n in source order. enter is called for each
// node before its children, which are skipped if it returns false; leave, which
// may be nil, is called behind them for each node whose children were visited.
//
// An *Ident is visited only where it is an expression and so refers to a
// constant, formula or variable. Names that declare, label or select something
// (a constant's name, an action, a function, the target of an assignment, the
// name of a reward structure) are fields of their nodes and not visited.
func Walk(n Node, enter func(Node) bool, leave func(Node)) {
	if !enter(n) {
		return
	}
	children(n, func(child Node) { Walk(child, enter, leave) })
	if leave != nil {
		leave(n)
	}
}

// Inspect is Walk without leave.
func Inspect(n Node, f func(Node) bool) { Walk(n, f, nil) }

// children calls visit for each child of n in source order.
func children(n Node, visit func(Node)) {
	switch n := n.(type) {
	case *Model:
		each(n.Items, visit)
	case *Properties:
		each(n.Items, visit)
	case *GlobalDecl:
		visit(n.Var)
	case *Module:
		each(n.Vars, visit)
		visitExprs(visit, n.Invariant)
		each(n.Commands, visit)
	case *RenamedModule:
		each(n.Renames, visit)
	case *Command:
		visitExprs(visit, n.Guard)
		each(n.Updates, visit)
	case *Update:
		visitExprs(visit, n.Prob, n.ProbHigh)
		each(n.Assigns, visit)
	case *Rewards:
		each(n.Items, visit)
	case *Player:
		each(n.Items, visit)
	case *System:
		visit(n.X)
	case SysExpr:
		sysChildren(n, visit)
	case Expr:
		exprChildren(n, visit)
	default:
		visitExprs(visit, declExprs(n)...)
	}
}

// declExprs returns the expressions of a declaration or another node that has
// nothing but expressions below it.
func declExprs(n Node) []Expr {
	switch n := n.(type) {
	case *ConstDecl:
		return []Expr{n.Value}
	case *FormulaDecl:
		return []Expr{n.X}
	case *LabelDecl:
		return []Expr{n.X}
	case *VarDecl:
		return []Expr{n.Low, n.High, n.Init}
	case *Assign:
		return []Expr{n.Value}
	case *RewardItem:
		return []Expr{n.Guard, n.Value}
	case *InitBlock:
		return []Expr{n.X}
	case *ObservableDecl:
		return []Expr{n.X}
	case *Property:
		return []Expr{n.X}
	case *TimeBound:
		if n.Equal {
			return []Expr{n.Low}
		}
		return []Expr{n.Low, n.High}
	case *CostBound:
		return declExprs(n.Bound)
	case *OldFilter:
		return []Expr{n.States}
	}
	return nil
}

func sysChildren(n SysExpr, visit func(Node)) {
	switch n := n.(type) {
	case *SysBrackets:
		visit(n.X)
	case *SysFull:
		each(n.Operands, visit)
	case *SysInterleaved:
		each(n.Operands, visit)
	case *SysParallel:
		visit(n.X)
		visit(n.Y)
	case *SysHide:
		visit(n.X)
	case *SysRename:
		visit(n.X)
		each(n.Renames, visit)
	}
}

func exprChildren(n Expr, visit func(Node)) {
	switch n := n.(type) {
	case *Paren:
		visit(n.X)
	case *Unary:
		visit(n.X)
	case *Binary:
		visit(n.X)
		visit(n.Y)
	case *Cond:
		visitExprs(visit, n.C, n.T, n.E)
	case *Call:
		each(n.Args, visit)
	case *Temporal:
		visitExprs(visit, n.X)
		if n.Bound != nil {
			visit(n.Bound)
		}
		each(n.Costs, visit)
		visit(n.Y)
	case *Prob:
		visitExprs(visit, n.Bound, n.Path)
		visitFilter(visit, n.Filter)
	case *Steady:
		visitExprs(visit, n.Bound, n.X)
		visitFilter(visit, n.Filter)
	case *Reward:
		visitExprs(visit, index(n.Struct), index(n.StructDiv), n.Bound, n.Path)
		visitFilter(visit, n.Filter)
	case *RewardPath:
		visitExprs(visit, n.Bound, n.Target)
		each(n.Costs, visit)
	case *Quant:
		visit(n.Path)
	case *Strategy:
		visit(n.X)
	case *Filter:
		visitExprs(visit, n.X, n.States)
	}
}

// index returns the expression that selects a reward structure, nil if a name does.
func index(x Expr) Expr {
	if _, named := x.(*Quoted); named {
		return nil
	}
	return x
}

func each[N Node](nodes []N, visit func(Node)) {
	for _, n := range nodes {
		visit(n)
	}
}

func visitExprs(visit func(Node), xs ...Expr) {
	for _, x := range xs {
		if x != nil {
			visit(x)
		}
	}
}

func visitFilter(visit func(Node), f *OldFilter) {
	if f != nil {
		visit(f)
	}
}
