// SPDX-License-Identifier: Apache-2.0

import Shop
import Storage

/// Databases that finish what is delivered once when it is sold. The store does not sell
/// again what is unfinished, and a load that also sent finishes would measure those. Ours and
/// the bare handlers write into such databases alike.
enum FinishingPlaces {
    /// Adds the trigger to a realm's database.
    static func prepared(_ storage: any Storage, onPostgres: Bool) async throws -> any Storage {
        for sql in onPostgres ? postgres : sqlite {
            try await storage.write { try $0.execute(Statement("bench.finish", sql), []) }
        }
        return storage
    }

    private static let sqlite = [
        """
        CREATE TRIGGER IF NOT EXISTS bench_finish AFTER INSERT ON transactions
        WHEN NEW.finished_at IS NULL AND NEW.product_type IN ('consumable', 'non-renewing')
        BEGIN
            UPDATE transactions SET finished_at = NEW.purchased_at
            WHERE customer_id = NEW.customer_id AND transaction_id = NEW.transaction_id;
        END
        """
    ]

    private static let postgres = [
        """
        CREATE OR REPLACE FUNCTION bench_finish() RETURNS trigger LANGUAGE plpgsql AS
        'BEGIN NEW.finished_at := NEW.purchased_at; RETURN NEW; END'
        """,
        """
        CREATE OR REPLACE TRIGGER bench_finish BEFORE INSERT ON transactions
        FOR EACH ROW WHEN (NEW.product_type IN ('consumable', 'non-renewing'))
        EXECUTE FUNCTION bench_finish()
        """,
    ]
}
