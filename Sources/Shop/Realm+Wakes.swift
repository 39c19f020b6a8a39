// SPDX-License-Identifier: Apache-2.0

import Commerce
import Storage

/// What the processes of one database tell each other after a commit. Words
/// are hints: one that is lost is made good by the next poll of a device, and
/// by the worker, which looks by itself now and then.
extension Realm {
    /// Work may be due: the clock was moved.
    private static let workWord = "work"
    /// Every customer's sessions have ended: the realm was reset.
    private static let resetWord = "reset"
    /// A customer's word is this and the customer's number.
    private static let customerPrefix: Character = "c"

    /// Tells those who wait for a customer of a commit that holds, here at
    /// once, and wherever else the database is served.
    func wake(_ customer: CustomerID) {
        hub.wake(customer)
        storage(of: customer).wake("\(Self.customerPrefix)\(customer)")
    }

    /// Tells whoever works in this realm to look at the clock.
    func wakeWorkers() {
        ringAll()
        for storage in clusters.all { storage.wake(Self.workWord) }
    }

    /// Tells whoever waits, for whatever customer, of a commit that holds.
    func wakeEverybody() {
        hub.wakeAll()
        ringAll()
        for storage in clusters.all { storage.wake(Self.resetWord) }
    }

    /// Hears what is said until the realm closes. Holds no realm meanwhile.
    func hearWakes() -> Task<Void, Never> {
        let heard = zip(clusters.all, bells).map { (wakes: $0.wakes(), bell: $1) }
        let hub = hub
        return Task {
            await withDiscardingTaskGroup { group in
                for (wakes, bell) in heard {
                    group.addTask { await Self.hear(wakes, hub, bell) }
                }
            }
        }
    }

    private static func hear(
        _ wakes: AsyncStream<Wake>, _ hub: ChangesHub, _ bell: WorkBell
    ) async {
        for await wake in wakes {
            switch wake {
            case .missed, .word(Self.resetWord):
                hub.wakeAll()
                bell.ring()
            case .word(Self.workWord):
                bell.ring()
            case .word(let word):
                if let customer = Self.customer(word) { hub.wake(customer) }
            }
        }
    }

    /// Whose word it is; nil for the words of newer programs.
    private static func customer(_ word: String) -> CustomerID? {
        guard word.first == customerPrefix else { return nil }
        return Edge.number(String(word.dropFirst())).map { CustomerID($0) }
    }
}
