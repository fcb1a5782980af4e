package game

// RandomHabit returns the player that makes every legal move equally often.
func RandomHabit() *Habit {
	return newHabit(func(legal Moves, draw int) Dir { return legal.At(draw % legal.Len()) })
}
