// SPDX-License-Identifier: Apache-2.0

import StoreWire
import Work

extension Store {
    /// What each of its realms is opened with.
    var parts: RealmParts {
        let courier = ports.courier
        return RealmParts(
            ports: ports, numbers: numbers, keyRealms: keyRealms,
            recentTokens: recentTokens, authorities: authorities,
            passwordQueue: passwordQueue, attempts: attempts, contentKey: contentKey,
            errandHandlers: { processor in
                var handlers: [any ErrandHandler<Realm>] =
                    [OfferRelease(), BulkErrands()] + FamilyErrands.handlers
                if let courier { handlers.append(NotificationErrands(courier: courier)) }
                if let processor {
                    handlers += ProcessorErrands.handlers(processor)
                    handlers += RefundErrands.handlers(processor)
                    handlers += RenewalErrands.handlers(processor)
                }
                return handlers
            },
            dueWorkHandlers: ports.dueWork ?? [ApprovalTimeout(), SubscriptionWork()],
            chores: KeepingRoom.chores, makeDefaultCustomer: Self.makeDefaultCustomer)
    }

    private static func makeDefaultCustomer(in realm: Realm) async throws {
        let request = CreateCustomerRequest(name: Realm.defaultCustomer)
        do { _ = try await realm.customers.createCustomer(request) } catch let refusal as Refusal {
            // Another process was first.
            guard refusal.kind == .conflict else { throw refusal }
        }
    }
}
