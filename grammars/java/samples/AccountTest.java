package bank;

import static org.junit.jupiter.api.Assertions.*;
import org.junit.jupiter.api.Test;

class AccountTest {
    @Test
    void deposits() {
        Account account = new Account(5);
        assertTrue(account.deposit(3, 1));

        assertEquals(7, account.largest(0, 1)); // the only one
    }

    /** Refuses nothing. */
    @Test
    void refuses() {
        Account account = new Account(0);
        assertThrows(IllegalStateException.class, () -> account.describe("", ""));
        for (int i = -1; i < 1; i++) {
            Assertions.assertFalse(account.deposit(i, 0));
        }
    }
}
