// SPDX-License-Identifier: Apache-2.0

import Storage
import Work

extension Statement {
    /// Every statement of a realm's database and of the registry, for the test
    /// that prepares all of them.
    enum Shop {
        static let registry =
            Registry.all + Keys.all + Restores.registry + Advances.registry + Certificates.all
            + KeyRealms.all + Operators.all + Rotations.all + ResetNotes.registry
        static let realm =
            Realms.all + Clocks.all + Catalogues.all + Customers.all + Lines.all + Sessions.all
            + Purchases.all + Transactions.all + Refunds.all + Subscriptions.all + Faults.all
            + RenewalCharges.all + Bulk.all + Merchants.all + Offers.all + FamilyDebts.all
            + Reviews.all
            + Families.all
            + ServerKeys.all + WebSessions.all
            + Notifications.all + Errands.all
            + DueWorks.all + Jumps.all + Pruning.all + Audits.all + Restores.realm + Advances.realm
            + Resets.all + Snapshots.all
            + ResetNotes.realm + Clearing.all + AppVersions.all + Contents.all + Groups.all
            + Promotions.all + Intents.all + AppPages.all
            + Clustering.all
            + Houses.all
    }
}
