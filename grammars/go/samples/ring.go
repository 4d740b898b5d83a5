package ring

import (
	"errors"
	"strings"
)

const limit = 8

// Ring holds a few values.
type Ring struct {
	values []int
	next   int
}

// Push adds a value.
func (r *Ring) Push(value int, strict bool) error {
	if len(r.values) >= limit && strict {
		return errors.New("full")
	}
	r.values = append(r.values, value)
	r.next++
	return nil
}

func Sum(values []int, from int, to int) int {
	total := 0
	for i := from; i < to; i++ {
		if values[i] == 0 {
			continue
		}
		if values[i] < 0 {
			break
		} else {
			total += values[i]
		}
	}
	return total
}

func Join(words []string, sep string) string {
	var parts []string
	for _, word := range words {
		if !strings.HasPrefix(word, "#") {
			parts = append(parts, word)
		}
	}
	switch len(parts) {
	case 0:
		return ""
	default:
		break
	}
	return strings.Join(parts[1:], sep)
}

func abs(value int) (int, bool) {
	if value < 0 {
		return -value, true
	} else if value == 0 {
		return 0, false
	}
	return value, false
}
