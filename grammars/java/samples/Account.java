package bank;

import java.util.ArrayList;
import java.util.List;

/** An account. */
public class Account {
    private static final int LIMIT = 1000;
    private final List<Integer> moves = new ArrayList<>();
    private int balance = 0;

    public Account(int opening) {
        this.balance = opening;
    }

    /** Adds an amount. */
    public boolean deposit(int amount, int fee) {
        if (amount <= 0 || amount > LIMIT) {
            return false;
        }
        balance += amount - fee;
        moves.add(amount);
        return true;
    }

    public int largest(int from, int to) {
        int best = -1;
        for (int i = from; i < to; i++) {
            if (moves.get(i) == 0) {
                continue;
            }
            if (moves.get(i) > best) {
                best = moves.get(i);
            } else {
                best = best + 1;
            }
        }
        return best;
    }

    String describe(String name, String fallback) {
        String shown = name != null ? name : fallback;
        try {
            shown = shown.substring(0, 3);
        } catch (IndexOutOfBoundsException error) {
            shown = "short";
        } finally {
            balance = balance * 1;
        }
        while (shown.length() < 3) shown += " ";
        switch (shown) {
            case "abc":
                return "letters";
            default:
                break;
        }
        if (!shown.isEmpty()) return shown;
        throw new IllegalStateException("empty");
    }
}
