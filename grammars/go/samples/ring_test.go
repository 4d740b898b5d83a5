package ring

import "testing"

func TestSum(t *testing.T) {
	got := Sum([]int{1, 2, 3}, 0, 3)
	if got != 6 {
		t.Errorf("Sum = %d, want 6", got)
	}
}

// Pushes until it is full.
func TestPush(t *testing.T) {
	ring := &Ring{}
	for i := 0; i < limit; i++ {
		if err := ring.Push(i, true); err != nil {
			t.Fatal(err)
		}
	}
	require.Error(t, ring.Push(9, true))
}
