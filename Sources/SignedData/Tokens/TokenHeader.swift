// SPDX-License-Identifier: Apache-2.0

/// The header of a token that a merchant's server has signed.
struct TokenHeader: Decodable {
    let alg: String?
    let kid: String?
    /// Whether it has `crit`, in any form, which lists extensions that a reader must
    /// understand.
    let hasCritical: Bool

    enum CodingKeys: String, CodingKey { case alg, kid, crit }

    init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        alg = try container.decodeIfPresent(String.self, forKey: .alg)
        kid = try container.decodeIfPresent(String.self, forKey: .kid)
        hasCritical = container.contains(.crit)
    }
}
