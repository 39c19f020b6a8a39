// SPDX-License-Identifier: Apache-2.0

import Commerce
import StrictJSON

/// Read values of a type. A value of another type is recorded as an error, and
/// nil is returned.
extension CatalogueReader {
    mutating func list(_ node: Node, _ key: String) -> [Node] {
        guard let member = node[key] else { return [] }
        guard case .array(let elements) = member.value else {
            refuse(member.path, "it must be an array", "put it in [ and ]")
            return []
        }
        return elements.enumerated().map { Node($1, "\(member.path)[\($0)]") }
    }

    mutating func isObject(_ node: Node) -> Bool {
        if !node.isObject { refuse(node.path, "it must be an object", "put it in { and }") }
        return node.isObject
    }

    mutating func requiredText(_ node: Node, _ key: String) -> String? {
        if node[key] == nil { refuse(node.path(to: key), "it is missing", "add it, as text") }
        return text(node, key)
    }

    mutating func text(_ node: Node, _ key: String) -> String? {
        guard let member = node[key] else { return nil }
        guard case .string(let text) = member.value else {
            refuse(member.path, "it must be text", "put it in quotes")
            return nil
        }
        guard !text.utf8.contains(0) else {
            refuse(member.path, "a text never holds U+0000", "remove that character")
            return nil
        }
        return text
    }

    /// A text for people, with a warning if a store refuses it. Not an error, because a file
    /// that a store holds from before that rule is still read. `hasLines`: whether it may
    /// have line ends.
    mutating func shownText(_ node: Node, _ key: String, hasLines: Bool = false) -> String? {
        guard let text = self.text(node, key) else { return nil }
        let isAllowed = hasLines ? VisibleText.isAllowedInLines : VisibleText.isAllowedInName
        let hidden = text.unicodeScalars.first { !isAllowed($0) }
        if let hidden {
            warn(
                node.path(to: key),
                "a text has no control, bidirectional or zero-width characters",
                "remove \(VisibleText.name(of: hidden)); a store refuses it")
        }
        return text
    }

    mutating func boolean(_ node: Node, _ key: String) -> Bool? {
        guard let member = node[key] else { return nil }
        guard case .boolean(let flag) = member.value else {
            refuse(member.path, "it must be true or false", "write it without quotes")
            return nil
        }
        return flag
    }

    mutating func integer(_ node: Node, _ key: String) -> Int? {
        guard let member = node[key] else { return nil }
        guard case .number(let digits) = member.value, let number = Int(digits) else {
            refuse(member.path, "it must be a whole number", "write its digits without quotes")
            return nil
        }
        return number
    }

    /// Nil, with a warning, if there is no price. A price is never invented.
    mutating func price(
        _ node: Node, _ key: String = "displayPrice", of subject: String = "a product",
        otherwise: String = "until then it cannot be bought"
    ) -> Amount? {
        let path = node.path(to: key)
        let written: String?
        if case .number(let number)? = node[key]?.value {
            warn(path, "a price is written in quotes", "write \"\(number)\", as which it is read")
            written = number
        } else {
            written = text(node, key)
        }
        guard let written, !written.isEmpty else {
            let isWrongType = node[key] != nil && written == nil
            if !isWrongType {
                warn(
                    path, "\(subject) has a price",
                    "write one such as \"0.99\"; \(otherwise)")
            }
            return nil
        }
        guard let amount = Amount(decimal: written) else {
            refuse(
                path, "a price is digits with at most one point and three decimals",
                "write it like \"0.99\", without currency, sign or thousands separator")
            return nil
        }
        return amount
    }

    mutating func refuse(_ path: String, _ rule: String, _ remedy: String) {
        errors.append(
            CatalogueProblem(file: file, keyPath: path, rule: rule, remedy: remedy))
    }

    mutating func warn(_ path: String, _ rule: String, _ remedy: String) {
        warnings.append(
            CatalogueProblem(file: file, keyPath: path, rule: rule, remedy: remedy))
    }
}
