// SPDX-License-Identifier: Apache-2.0

extension Device {
    /// Call this when the app comes to the foreground, which nothing on this platform
    /// reports. What is not finished is delivered again, a store that could not be
    /// reached is asked again at once, and the customer is asked about a higher price that
    /// waits for consent.
    public nonisolated func enterForeground() {
        post { $0.deliverAgain() }
    }

    private func deliverAgain() {
        wake()
        do throws(DeviceFault) { try adoptEnded() } catch {
            sayOnce("The queue cannot be opened: \(error.sentence)")
        }
        guard let owner = openFor, let record else { return }
        let entries = record.entries(of: launch, for: owner) + unwritten
        deliver(
            entries.filter { [.failed, .purchased, .restored].contains($0.state) }.map(\.key))
        if isHeard { askForConsentIfWanted() }
    }
}
