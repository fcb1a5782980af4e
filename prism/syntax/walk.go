package syntax

// Walk traverses a tree in source order. It calls enter before the children of each node. If enter returns false, Walk skips the children. It
// calls leave, which may be nil, after the children.
//
// Walk visits an *Ident only where it refers to a constant, formula or variable. It does not visit other names, such as actions, functions and
// targets of assignments.
func Walk(node Node, enter func(Node) bool, leave func(Node)) {
	if !enter(node) {
		return
	}
	children(node, func(child Node) { Walk(child, enter, leave) })
	if leave != nil {
		leave(node)
	}
}

// Inspect calls Walk without a leave function.
func Inspect(n Node, f func(Node) bool) { Walk(n, f, nil) }

// children calls visit for each direct child of a node, in source order.
func children(node Node, visit func(Node)) {
	switch node := node.(type) {
	case *Model:
		visitAll(node.Items, visit)
	case *Properties:
		visitAll(node.Items, visit)
	case *GlobalDecl:
		visit(node.Var)
	case *Module:
		visitAll(node.Vars, visit)
		visitExprs(visit, node.Invariant)
		visitAll(node.Commands, visit)
	case *RenamedModule:
		visitAll(node.Renames, visit)
	case *Command:
		visitExprs(visit, node.Guard)
		visitAll(node.Updates, visit)
	case *Update:
		visitExprs(visit, node.Prob, node.ProbHigh)
		visitAll(node.Assigns, visit)
	case *Rewards:
		visitAll(node.Items, visit)
	case *Player:
		visitAll(node.Items, visit)
	case *System:
		visit(node.X)
	case SysExpr:
		sysChildren(node, visit)
	case Expr:
		exprChildren(node, visit)
	default:
		visitExprs(visit, childExpressions(node)...)
	}
}

// childExpressions returns the expressions of a declaration, or of another node whose children are all expressions. Some of them may be nil.
func childExpressions(node Node) []Expr {
	switch node := node.(type) {
	case *ConstDecl:
		return []Expr{node.Value}
	case *FormulaDecl:
		return []Expr{node.X}
	case *LabelDecl:
		return []Expr{node.X}
	case *VarDecl:
		return []Expr{node.Low, node.High, node.Init}
	case *Assign:
		return []Expr{node.Value}
	case *RewardItem:
		return []Expr{node.Guard, node.Value}
	case *InitBlock:
		return []Expr{node.X}
	case *ObservableDecl:
		return []Expr{node.X}
	case *Property:
		return []Expr{node.X}
	case *TimeBound:
		if node.Equal {
			return []Expr{node.Low}
		}
		return []Expr{node.Low, node.High}
	case *CostBound:
		return childExpressions(node.Bound)
	case *OldFilter:
		return []Expr{node.States}
	}
	return nil
}

// sysChildren calls visit for each child of a process-algebra term.
func sysChildren(term SysExpr, visit func(Node)) {
	switch term := term.(type) {
	case *SysBrackets:
		visit(term.X)
	case *SysFull:
		visitAll(term.Operands, visit)
	case *SysInterleaved:
		visitAll(term.Operands, visit)
	case *SysParallel:
		visit(term.X)
		visit(term.Y)
	case *SysHide:
		visit(term.X)
	case *SysRename:
		visit(term.X)
		visitAll(term.Renames, visit)
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
		visitExprs(visit, n.Condition, n.Then, n.Else)
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
		visitExprs(visit, rewardIndexExpr(n.Struct), rewardIndexExpr(n.DivisorStruct), n.Bound, n.Path)
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
