package certificate

import "fmt"

// The program of the playground leaves out discounted rewards, bounds on rewards and conditional probabilities, because every visitor loads it.

func (file *File) vectorSize(vector int, setSizes []int, nameSize int) int {
	return file.Vectors[vector].textSize(setSizes, nameSize)
}

func (a *Automaton) validateCondition(int) error {
	if a.Condition == nil && a.Excluded == nil {
		return nil
	}
	return fmt.Errorf("found a condition, which is not in the program of the playground; use the command line")
}

func (file *File) validateExtension(vector *Vector, _ int) error {
	if vector.Discount == nil && vector.Budgets == nil && vector.Shares == nil && vector.Kind != Discounted && vector.Kind != RewardBounded && vector.Kind != RewardWithinBounds && vector.Kind != Conditional && vector.ConditionalBounds == nil && vector.Kind != MaxConditional {
		return nil
	}
	return fmt.Errorf("found the kind %q, which is not in the program of the playground; use the command line", vector.Kind)
}

func (*File) shareText(*Vector) string { return "" }

func (*File) conditionText(*Vector) string { return "" }

func (*Vector) discountText() string { return "" }

func (*File) budgetText(*Budgets) string { return "" }
