// Package prove makes certificates: of a space with fractions and a property, the
// sets and vectors from which its answer follows, as package certificate has them.
//
//	p, err := prove.New(space, prove.Options{})
//	i, r, err := p.Proven(ctx, property) // p.Claims[i], what proves it, and what the checker says
//	f := prove.Only(&p.File, i)      // a certificate of that claim alone
//	k := prove.NewSkeleton()         // what is to be shown, without how
//	i, err = k.Add(property)
//
// A property becomes sets and vectors by its syntax alone (translate). Their columns
// are what package solve computes, on a grid of numbers so fine that the equations
// still imply the bounds (vector), and ranks that graph searches find (rank). Where
// doubles have too little slack the columns are fractions. Nothing here has to be
// right: what is wrong package certify does not accept.
//
// What has no certificate is refused by name, as a *result.Failure.
package prove
