import { serve } from "../../../threads/thread-server.ts";
import type { CompactTask } from "./compact-part.ts";
import { compactPart } from "./compact-part.ts";

serve((request) => ({ value: compactPart(request as CompactTask) }));
