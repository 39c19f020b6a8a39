// SPDX-License-Identifier: Apache-2.0

import Foundation
import TestSupport

/// `docs/openapi.json`, as far as a running server can be held against it.
struct OpenAPIPage {
    /// What is written of one route.
    struct Operation {
        let statuses: Set<Int>
        /// The schemas of JSON answers, by status.
        let answers: [Int: [String: Any]]
    }

    /// By method and pattern, as routes are registered: `GET /ready`.
    let operations: [String: Operation]
    private let schemas: [String: Any]

    init() throws {
        let file = URL(fileURLWithPath: try PackageRoot.path() + "/docs/openapi.json")
        let page = try JSONSerialization.jsonObject(with: Data(contentsOf: file))
        let components = Self.object(Self.object(page)["components"])
        schemas = Self.object(components["schemas"])
        let responses = Self.object(components["responses"])
        var operations: [String: Operation] = [:]
        for (path, item) in Self.object(Self.object(page)["paths"]) {
            let pattern = path.replacing(/\{[^}]*\}/, with: "{}")
            for (method, operation) in Self.object(item) where method != "parameters" {
                let told = Self.object(Self.object(operation)["responses"])
                var answers: [Int: [String: Any]] = [:]
                for (status, response) in told {
                    let shared = (Self.object(response)["$ref"] as? String)
                        .flatMap { $0.components(separatedBy: "/").last }
                    let body = Self.object(shared.map { responses[$0] ?? [:] } ?? response)
                    let content = Self.object(body["content"])
                    let json = Self.object(content["application/json"])
                    if let status = Int(status), let schema = json["schema"] {
                        answers[status] = Self.object(schema)
                    }
                }
                operations["\(method.uppercased()) \(pattern)"] = Operation(
                    statuses: Set(told.keys.compactMap(Int.init)), answers: answers)
            }
        }
        self.operations = operations
    }

    /// Where a JSON answer is not of the schema that is written for it.
    func difference(_ body: [UInt8], _ status: Int, of route: String) -> String? {
        guard let schema = operations[route]?.answers[status] else { return nil }
        guard let value = try? JSONSerialization.jsonObject(with: Data(body)) else {
            return "the body is no JSON"
        }
        return difference(value, schema, at: "$")
    }

    private func difference(_ value: Any, _ schema: [String: Any], at path: String) -> String? {
        if let name = (schema["$ref"] as? String)?.components(separatedBy: "/").last {
            guard let named = schemas[name] else { return "\(path): no schema \(name)" }
            return difference(value, Self.object(named), at: path)
        }
        switch (schema["type"] as? String, value) {
        case (nil, _), ("string", is String), ("boolean", is Bool): return nil
        case ("integer", let number as NSNumber):
            return number.doubleValue.rounded() == number.doubleValue ? nil : "\(path): a fraction"
        case ("number", is NSNumber): return nil
        case ("array", let list as [Any]):
            let items = Self.object(schema["items"])
            return list.lazy.compactMap { difference($0, items, at: path + "[]") }.first
        case ("object", let object as [String: Any]):
            let properties = Self.object(schema["properties"])
            let isOpen = schema["additionalProperties"] != nil || properties.isEmpty
            for name in schema["required"] as? [String] ?? [] where object[name] == nil {
                return "\(path).\(name) is missing"
            }
            for (name, inner) in object {
                guard let property = properties[name] else {
                    if isOpen { continue }
                    return "\(path).\(name) is not written of"
                }
                if let found = difference(inner, Self.object(property), at: "\(path).\(name)") {
                    return found
                }
            }
            return nil
        default: return "\(path): not \(schema["type"] ?? "as written")"
        }
    }

    private static func object(_ value: Any?) -> [String: Any] { value as? [String: Any] ?? [:] }
}
