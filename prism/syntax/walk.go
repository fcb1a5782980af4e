package syntax

// Walk traverses a tree in source order. It calls enter before the children of each node. If enter returns false, Walk skips the children. It
// calls leave, which may be nil, after the children.
//
// Walk visits an *Ident only where it refers to a constant, formula or variable. It does not visit other names, such as actions, functions and
// targets of assignments.
func Walk(n Node, enter func(Node) bool, leave func(Node)) {
	if !enter(n) {
		return
	}
	children(n, func(child Node) { Walk(child, enter, leave) })
	if leave != nil {
		leave(n)
	}
}

// Inspect calls Walk without a leave function.
func Inspect(n Node, f func(Node) bool) { Walk(n, f, nil) }

// children calls visit for each child of a node in source order.
func children(n Node, visit func(Node)) {
	switch n := n.(type) {
	case *Model:
		visitAll(n.Items, visit)
	case *Properties:
		visitAll(n.Items, visit)
	case *GlobalDecl:
		visit(n.Var)
	case *Module:
		visitAll(n.Vars, visit)
		visitExprs(visit, n.Invariant)
		visitAll(n.Commands, visit)
	case *RenamedModule:
		visitAll(n.Renames, visit)
	case *Command:
		visitExprs(visit, n.Guard)
		visitAll(n.Updates, visit)
	case *Update:
		visitExprs(visit, n.Prob, n.ProbHigh)
		visitAll(n.Assigns, visit)
	case *Rewards:
		visitAll(n.Items, visit)
	case *Player:
		visitAll(n.Items, visit)
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

// declExprs returns the expressions of a declaration, or of another node with only expressions as children. Some may be nil.
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

// sysChildren calls visit for each child of a process-algebra term.
func sysChildren(n SysExpr, visit func(Node)) {
	switch n := n.(type) {
	case *SysBrackets:
		visit(n.X)
	case *SysFull:
		visitAll(n.Operands, visit)
	case *SysInterleaved:
		visitAll(n.Operands, visit)
	case *SysParallel:
		visit(n.X)
		visit(n.Y)
	case *SysHide:
		visit(n.X)
	case *SysRename:
		visit(n.X)
		visitAll(n.Renames, visit)
	}
}

// exprChildren calls visit for each child of an expression in source order.
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
		visitAll(n.Args, visit)
	case *Temporal:
		visitExprs(visit, n.X)
		if n.Bound != nil {
			visit(n.Bound)
		}
		visitAll(n.Costs, visit)
		visit(n.Y)
	case *Prob:
		visitExprs(visit, n.Bound, n.Path)
		visitFilter(visit, n.Filter)
	case *Steady:
		visitExprs(visit, n.Bound, n.X)
		visitFilter(visit, n.Filter)
	case *Reward:
		visitExprs(visit, rewardIndexExpr(n.Struct), rewardIndexExpr(n.StructDivisor), n.Bound, n.Path)
		visitFilter(visit, n.Filter)
	case *RewardPath:
		visitExprs(visit, n.Bound, n.Target)
		visitAll(n.Costs, visit)
		visitExprs(visit, n.Discount)
	case *Conditional:
		visitExprs(visit, n.X, n.Condition)
	case *Quant:
		visit(n.Path)
	case *Strategy:
		visit(n.X)
	case *Filter:
		visitExprs(visit, n.X, n.States)
	}
}

// rewardIndexExpr returns the expression for the number of a reward structure, or nil if the structure has a name.
func rewardIndexExpr(expr Expr) Expr {
	if _, isName := expr.(*Quoted); isName {
		return nil
	}
	return expr
}

func visitAll[N Node](nodes []N, visit func(Node)) {
	for _, node := range nodes {
		visit(node)
	}
}

func visitExprs(visit func(Node), exprs ...Expr) {
	for _, expr := range exprs {
		if expr != nil {
			visit(expr)
		}
	}
}

func visitFilter(visit func(Node), filter *OldFilter) {
	if filter != nil {
		visit(filter)
	}
}
