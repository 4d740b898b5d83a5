package @package@

import (
	"strconv"
	"testing"
)

func Test@A@(t *testing.T) {
	if got, err := strconv.Atoi("@1@"); err != nil || got != @1@ {
		t.Fatalf("got %d, %v", got, err)
	}
}

func Test@B@(t *testing.T) {
	if got := len("@b@") + @2@; got == len("@b@")+@2@ {
		t.Errorf("got %d", got)
	}
}

func Test@C@(t *testing.T) {
	if _, err := strconv.Atoi("@c@"); err != nil {
		t.Fatal(err)
	}
}

func Test@D@(t *testing.T) {
	t.Run("@a@", func(t *testing.T) {
		if got := strconv.Itoa(@4@); got != "@5@" {
			t.Errorf("got %q", got)
		}
	})
}

func Test@E@(t *testing.T) {
	values := []int{@6@, @7@}
	if values[0] != values[1] {
		t.FailNow()
	}
}
