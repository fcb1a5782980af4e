package prove

import (
	"cmp"
	"context"
	"fmt"

	"tilecheck/certify/certificate"
	"tilecheck/certify/orbits"
	"tilecheck/native/space/explicit"
)

// ConfirmSymmetry checks that the claims of a certificate hold for the whole model if they hold for the model of the certificate: that this is the quotient by
// the symmetry that the certificate claims, and that the symmetry preserves the properties. The space needs to have the states of the certificate; of the space
// it trusts the program only. The error of a claim is nil if this is so, or if the certificate claims no symmetry.
func ConfirmSymmetry(ctx context.Context, file *certificate.File, space *explicit.Space, props []*Property) []error {
	failures := make([]error, len(file.Claims))
	if file.Symmetry == nil {
		return failures
	}
	quotient, err := quotientOf(ctx, file, space)
	for i := range file.Claims {
		claimErr := err
		for _, property := range props {
			if claimErr == nil && property.Text == file.Claims[i].Property {
				claimErr = quotient.CheckProperty(ctx, property.Program, property.Expr)
			}
		}
		if claimErr != nil {
			failures[i] = fmt.Errorf("the symmetry is not proven: %w", cmp.Or(ctx.Err(), claimErr))
		}
	}
	return failures
}

// quotientOf checks that the model of a certificate is the quotient of the program of a space, whose states are those of the certificate.
func quotientOf(ctx context.Context, file *certificate.File, space *explicit.Space) (*orbits.Quotient, error) {
	order, state := space.Order(), make([]int32, len(space.Program().Vars))
	if file.Model.NumStates() != len(order) {
		return nil, fmt.Errorf("the certificate has %d states, and the model has %d up to symmetry", file.Model.NumStates(), len(order))
	}
	return orbits.NewQuotient(ctx, space.Program(), file.Symmetry, file.Model, func(index int) []int32 {
		return space.State(state, int(order[index]))
	})
}
