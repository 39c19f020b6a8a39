// SPDX-License-Identifier: Apache-2.0

#if !canImport(Darwin)
    // The label of a price sets it in most tutorials, and Foundation lacks it on this
    // platform, where there is only one behaviour.
    extension NumberFormatter {
        /// The version of the formatter's behaviour, which makes no difference here.
        public enum Behavior: UInt, Sendable {
            case `default` = 0
            case behavior10_0 = 1000
            case behavior10_4 = 1040
        }

        /// Always `behavior10_4`, whatever is set. Foundation's own is preferred once
        /// it has one.
        @_disfavoredOverload
        public var formatterBehavior: Behavior {
            get { .behavior10_4 }
            set {}
        }
    }
#endif
