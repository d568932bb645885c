-- SPDX-License-Identifier: Apache-2.0
-- Hosts that RES_SELECT picked of what hosts had told, once: names joined by blanks. Of
-- unnamed policies with equal content the first is "#1", the second "#2" ...
CREATE TABLE pick (
    policy TEXT NOT NULL CHECK (length(policy) BETWEEN 1 AND 63),
    content TEXT NOT NULL,
    hosts TEXT NOT NULL,
    PRIMARY KEY (policy, content)
) STRICT, WITHOUT ROWID;
