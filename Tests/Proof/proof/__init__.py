# SPDX-License-Identifier: Apache-2.0
"""The proof that nothing is lost and nothing doubled. See docs/PROOF.md."""
