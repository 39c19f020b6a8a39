// SPDX-License-Identifier: Apache-2.0

import Commerce

/// Dates in HTTP's headers (RFC 9110, section 5.6.7). The day of the week is not checked.
enum HTTPDate {
    private static let months = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ]

    /// Reads each of the three forms that a recipient must accept:
    /// `Sun, 06 Nov 1994 08:49:37 GMT`, `Sunday, 06-Nov-94 08:49:37 GMT` and
    /// `Sun Nov  6 08:49:37 1994`. Nil for another text. `now` decides the century of a
    /// year of two digits: it is at most 50 years ahead.
    static func instant(_ text: String, now: Timestamp) -> Timestamp? {
        guard text.utf8.count <= 40 else { return nil }
        let parts = text.split { " ,-".contains($0) }.map(String.init)
        let (day, month, year, time): (String, String, String, String)
        switch parts.count {
        case 6 where parts[5] == "GMT":
            (day, month, year, time) = (parts[1], parts[2], parts[3], parts[4])
        case 5: (month, day, time, year) = (parts[1], parts[2], parts[3], parts[4])
        default: return nil
        }
        guard let index = months.firstIndex(of: month), let year = Self.year(year, now: now),
            (1...2).contains(day.utf8.count)
        else { return nil }
        let date = [year, padded(index + 1), day.utf8.count == 1 ? "0" + day : day]
        return Timestamp(iso8601: date.joined(separator: "-") + "T" + time + "Z")
    }

    private static func year(_ text: String, now: Timestamp) -> String? {
        guard let number = Int64(text), number >= 0 else { return nil }
        guard text.utf8.count == 2 else { return text.utf8.count == 4 ? text : nil }
        let present = CivilDate(now).year
        let year = present / 100 * 100 + number
        return "\(year > present + 50 ? year - 100 : year)"
    }

    private static func padded(_ number: Int) -> String {
        number < 10 ? "0\(number)" : "\(number)"
    }
}
