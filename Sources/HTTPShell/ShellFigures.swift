// SPDX-License-Identifier: Apache-2.0

import Commerce
package import Hummingbird
import Synchronization

/// One figure with its samples, in Prometheus' text format.
public struct Figure: Sendable {
    public enum Kind: String, Sendable {
        case counter, gauge
    }

    public struct Sample: Sendable {
        public let labels: [(name: String, value: String)]
        public let value: Double

        public init(_ value: Double, labels: [(name: String, value: String)] = []) {
            self.labels = labels
            self.value = value
        }
    }

    public let name: String
    public let help: String
    public let kind: Kind
    public let samples: [Sample]

    public init(_ name: String, _ kind: Kind, _ help: String, _ samples: [Sample]) {
        self.name = name
        self.help = help
        self.kind = kind
        self.samples = samples
    }

    var text: String {
        var text = "# HELP \(name) \(help)\n# TYPE \(name) \(kind.rawValue)\n"
        for sample in samples { text += Self.line(name, sample.labels, sample.value) }
        return text
    }

    fileprivate static func line(
        _ name: String, _ labels: [(name: String, value: String)], _ value: Double
    ) -> String {
        let inner = labels.map { "\($0.name)=\"\(escaped($0.value))\"" }.joined(separator: ",")
        let number = value == value.rounded() && abs(value) < 1e15 ? "\(Int64(value))" : "\(value)"
        return "\(name)\(inner.isEmpty ? "" : "{\(inner)}") \(number)\n"
    }

    private static func escaped(_ text: String) -> String {
        text.reduce(into: "") { text, character in
            switch character {
            case "\\": text += "\\\\"
            case "\"": text += "\\\""
            case "\n": text += "\\n"
            default: text.append(character)
            }
        }
    }
}

/// Counts the requests of one server, for Prometheus. A class, because every
/// request adds to it. It has few labels: methods, statuses, and routes without
/// their variable parts.
///
/// It uses no library, because swift-metrics has one registry per process, and
/// a process may run several servers.
package final class ShellFigures: Sendable {
    private struct Request: Hashable, Comparable {
        let route: String
        let method: String
        let status: Int

        static func < (left: Self, right: Self) -> Bool {
            (left.route, left.method, left.status) < (right.route, right.method, right.status)
        }
    }

    private struct Durations {
        /// For each bound, how many requests took no longer. The last element
        /// counts all.
        var buckets = [Int](repeating: 0, count: ShellFigures.bounds.count + 1)
        var seconds = 0.0

        mutating func add(_ duration: Double) {
            seconds += duration
            for (index, bound) in ShellFigures.bounds.enumerated() where duration <= bound {
                buckets[index] += 1
            }
            buckets[ShellFigures.bounds.count] += 1
        }
    }

    private struct State {
        var requests: [Request: Int] = [:]
        var durations: [String: Durations] = [:]
    }

    private static let bounds = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1, 5, 30]

    private let state = Mutex(State())
    let places = WaitingPlaces()
    private let connections: Connections
    private let configuration: ShellConfiguration
    private let ports: ShellPorts

    init(_ connections: Connections, _ configuration: ShellConfiguration, _ ports: ShellPorts) {
        self.connections = connections
        self.configuration = configuration
        self.ports = ports
    }

    /// - Parameter duration: Nil for a request that waited as long as it was
    ///   asked to.
    func count(_ route: String, _ method: String, _ status: Int, _ duration: Duration?) {
        let request = Request(route: route, method: method, status: status)
        let seconds = duration.map { $0 / .seconds(1) }
        state.withLock { state in
            state.requests[request, default: 0] += 1
            if let seconds { state.durations[route, default: Durations()].add(seconds) }
        }
    }

    /// Returns an answer in Prometheus' text format: these figures, those of a
    /// server, and the number of commits if it is counted.
    package func response(_ more: [Figure], commits: Int?) -> Response {
        let counted = commits.map {
            Figure(
                "shopkeeper_commits_total", .counter, "Successful commits.", [.init(Double($0))])
        }
        let text = text(more + (counted.map { [$0] } ?? []))
        return .bytes(Array(text.utf8), type: "text/plain; version=0.0.4; charset=utf-8")
    }

    /// Returns the text of these figures and of those that a server adds.
    func text(_ more: [Figure]) -> String {
        let (requests, durations) = state.withLock { ($0.requests, $0.durations) }
        let answered = Figure(
            "shopkeeper_requests_total", .counter, "Requests that were answered.",
            requests.sorted { $0.key < $1.key }.map { request, count in
                .init(
                    Double(count),
                    labels: [
                        ("route", request.route), ("method", request.method),
                        ("status", "\(request.status)"),
                    ])
            })
        let waits = Figure(
            "shopkeeper_waiting_requests", .gauge, "Devices that wait for changes.",
            [.init(Double(places.count))])
        return ([answered, waits] + limits + more).map(\.text).joined() + Self.histogram(durations)
    }

    /// How close the process is to its limits. Two of the names are those that
    /// Prometheus' own libraries use.
    private var limits: [Figure] {
        func gauge(_ name: String, _ help: String, _ value: Int?) -> Figure? {
            value.map { Figure(name, .gauge, help, [.init(Double($0))]) }
        }
        return [
            gauge("shopkeeper_connections", "Open connections.", connections.count),
            gauge("shopkeeper_connections_max", "Connections that may be open.", connections.max),
            gauge(
                "process_open_fds", "Descriptors that the process has open.",
                ports.openDescriptors()),
            gauge(
                "process_max_fds", "Descriptors that the process may have open.",
                configuration.descriptors?.limit),
        ].compactMap { $0 }
    }

    private static func histogram(_ durations: [String: Durations]) -> String {
        let name = "shopkeeper_request_seconds"
        var text = "# HELP \(name) How long answers took, except those that wait for changes.\n"
        text += "# TYPE \(name) histogram\n"
        for (route, one) in durations.sorted(by: { $0.key < $1.key }) {
            let ends = bounds.map { "\($0)" } + ["+Inf"]
            for (end, count) in zip(ends, one.buckets) {
                text += Figure.line(
                    name + "_bucket", [("route", route), ("le", end)], Double(count))
            }
            text += Figure.line(name + "_sum", [("route", route)], one.seconds)
            text += Figure.line(
                name + "_count", [("route", route)], Double(one.buckets[bounds.count]))
        }
        return text
    }
}
